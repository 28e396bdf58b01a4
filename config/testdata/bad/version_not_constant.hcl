deployster {
  required_version = var.v
}
# error 2:22 Not a constant
