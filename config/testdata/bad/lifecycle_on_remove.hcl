resource "a" {
  type = "x"
  lifecycle {
    on_remove = "keep"
  }
}
# error 4:17 Invalid on_remove
