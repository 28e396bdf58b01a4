resource "a" {
  config = {}
}
# error 1:14 Missing required argument
