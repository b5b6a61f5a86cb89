"""What authors run: stubs, workbook, release, selftest."""
