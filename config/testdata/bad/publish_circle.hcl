artifact "out" {
  type = "acme/git:1"
}
publish "one" {
  artifact = artifact.out
  params   = { v = resource.r.state.v }
}
resource "r" {
  type   = "x"
  config = { v = publish.one.version }
}
# error 6:20 A circle of dependencies
