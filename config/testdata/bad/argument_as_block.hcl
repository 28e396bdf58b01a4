resource "a" {
  type = "x"
  config {
  }
}
# error 3:3 Unsupported block type
