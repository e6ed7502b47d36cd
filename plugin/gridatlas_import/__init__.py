"""`gridatlas import`: a study of tables and result files that other programs wrote."""
