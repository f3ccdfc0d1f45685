"""How untrusted text becomes part of a prompt: templates, fences, views of patches and transcripts."""
