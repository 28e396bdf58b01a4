resource "a" {
  type = "x"
  confg = {}
}
# error 3:3 Unsupported argument
