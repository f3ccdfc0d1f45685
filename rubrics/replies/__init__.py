"""Strict readers of what models answer. Pure: text in, a record out, or `UnusableReply`; nothing is repaired."""
