resource "a" {
  type = "acme/file:1"
  config = {
    size = 1
    tags = { x = "1" }
    disks = [{ size = 2 }]
  }
  lifecycle {
    ignore_changes = [sise, tags["y"], tags.z, disks[1].size, disks[0].sise]
  }
}
# error 9:23 Unknown attribute
# error 9:29 Unknown attribute
# error 9:40 Unknown attribute
# error 9:48 Unknown attribute
# error 9:63 Unknown attribute
