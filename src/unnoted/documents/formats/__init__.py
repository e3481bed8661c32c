"""One file per format that documents are read from."""
