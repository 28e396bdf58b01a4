resource "a" {
  type = "x"
  timeouts = {}
}
# error 3:3 Unsupported argument
