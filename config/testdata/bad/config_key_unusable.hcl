resource "a" {
  type = "x"
  config = { (null) = 1 }
}
# error 3:23 Null value as key
