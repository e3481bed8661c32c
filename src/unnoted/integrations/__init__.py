"""Other libraries that use a model of ours."""
