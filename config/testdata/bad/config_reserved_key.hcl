resource "a" {
  type = "x"
  config = {
    x = { "$unknown" = "y" }
  }
}
# error 4:9 Invalid value
