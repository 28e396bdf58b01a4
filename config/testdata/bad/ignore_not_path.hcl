resource "a" {
  type = "acme/file:1"
  config = {
    size = 1
    tags = { x = "1" }
    disks = [{ size = 2 }]
  }
  lifecycle {
    ignore_changes = [upper("size"), 1]
  }
}
# error 9:23 Not an attribute
# error 9:38 Not an attribute
