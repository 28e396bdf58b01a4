type "disk" {
  image = "acme/disk:1"
}
resource "a" {
  type = type.dsk
}
# error 5:10 Unknown name
