"""One file per format that documents and predictions are written in."""
