resource "a" {
  type = "acme/file:1"
  config = {
    size = 1
    tags = { x = "1" }
    disks = [{ size = 2 }]
  }
  lifecycle {
    ignore_changes = "size"
  }
}
# error 9:22 Invalid ignore_changes
