"""Speed and memory, measured as rates and ratios within one run."""
