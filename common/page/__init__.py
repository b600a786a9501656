"""What people see: figures, the report page, gallery and README tables."""
