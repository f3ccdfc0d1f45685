"""Frozen records: what every stage passes to the next. Values only, no behaviour that reads or writes."""
