# error 6:5 the image decides

resource "a" {
  type = "x"
  lifecycle {
    create_before_destroy = true
  }
}
