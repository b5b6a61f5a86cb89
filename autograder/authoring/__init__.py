"""What authors run: new courses, stubs, workbook, release, selftest."""
