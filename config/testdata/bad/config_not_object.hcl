resource "a" {
  type = "x"
  config = ["x"]
}
# error 3:12 Invalid config
