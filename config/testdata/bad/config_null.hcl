resource "a" {
  type = "x"
  config = null
}
# error 3:12 Invalid config
