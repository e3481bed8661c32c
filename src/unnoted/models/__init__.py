"""From documents to scores: features, encoders, architectures, and the model that joins them."""
