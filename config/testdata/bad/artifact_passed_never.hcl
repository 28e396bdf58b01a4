artifact "site" {
  type   = "acme/git:1"
  source = { uri = "u" }
}
artifact "a" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.test, resource.tests, resource.none]
}
artifact "b" {
  type   = "acme/git:1"
  source = { uri = "alone" }
  passed = [resource.tests]
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
artifact "f" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.late]
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
resource "late" {
  type     = "acme/tests:1"
  for_each = artifact.site.version
}
# error 8:13 Undeclared resource
# error 13:12 Nothing passes
# error 18:13 An artifact waits for itself
# error 23:13 An artifact waits for itself
# error 28:13 Known too late
