"""What makes the generated parts of the documentation: reference pages, and the plots of the concepts."""
