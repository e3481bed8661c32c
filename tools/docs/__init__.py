"""What makes the generated parts of the documentation: drawings, the list of rooms, the command reference."""
