"""What makes a CPU fast, each beside its plain twin: dropout, attention rows, denormal numbers."""
