resource "a" {
  type = "acme/file:1"
}
output "o" {
  value = resource.a.stat.ip
}
# error 5:11 Unknown attribute
