"""A scripted server that speaks the OpenAI chat protocol over real HTTP: the tests' one seam is what it replies."""
