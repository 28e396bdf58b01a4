variable "hosts" { default = 1 }
artifact "site" {
  type   = "acme/git:1"
  source = { uri = "u" }
}
artifact "a" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.test, module.m, resource.tests]
}
artifact "b" {
  type   = "acme/git:1"
  source = { uri = "alone" }
  passed = [resource.tests]
}
artifact "c" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = "tests"
}
artifact "d" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.loop]
}
artifact "e" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.middle]
}
resource "tests" {
  type   = "acme/tests:1"
  config = { rev = artifact.site.version.ref }
}
resource "middle" {
  type   = "acme/tests:1"
  config = { rev = artifact.d.version.ref }
}
resource "loop" {
  type   = "acme/tests:1"
  config = { rev = artifact.e.version.ref }
}
resource "none" {
  type  = "acme/tests:1"
  count = 0
}
# error 9:28 Not a resource
# error 19:12 Invalid passed
