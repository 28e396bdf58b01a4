resurce "a" {
  type = "x"
}
# error 1:1 Unsupported block type
