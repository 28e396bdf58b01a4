plug "p" {
  path = "x"
  resource_names = ["("]
}
# error 3:20 Invalid resource_names
