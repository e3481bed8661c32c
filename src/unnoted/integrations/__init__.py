"""A model of ours in other libraries: spaCy, LlamaIndex, LangChain."""
