resource {
  type = "x"
}
# error 1:10 Missing name for resource
