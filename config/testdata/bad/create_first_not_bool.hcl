# error 6:29 create_before_destroy

resource "a" {
  type = "x"
  lifecycle {
    create_before_destroy = "often"
  }
}
