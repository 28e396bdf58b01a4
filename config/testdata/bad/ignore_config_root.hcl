resource "a" {
  type = "acme/file:1"
  config = {
    size = 1
    tags = { x = "1" }
    disks = [{ size = 2 }]
  }
  lifecycle {
    ignore_changes = [config.size]
  }
}
# error 9:23 Unknown attribute: write size
