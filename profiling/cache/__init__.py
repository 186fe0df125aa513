"""The folder for what can always be made again, and how what lies in it is made once."""
