resource "a" {
  type = "acme/file:1"
}
output "o" {
  value = dep.a.state
}
# error 5:11 No dependencies here
