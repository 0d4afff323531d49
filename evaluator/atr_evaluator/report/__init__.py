"""The report: one page with charts, tables and a reader for every session."""
