# error 5:3 config is one value

resource "a" {
  type = "x"
  dynamic "disk" {
    for_each = [1]
  }
}
