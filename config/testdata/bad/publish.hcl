artifact "out" {
  type = "acme/git:1"
}
plug "p" {
  path = "x"
}
publish "computed" {
  artifact = artifact.out.type
}
publish "inputs" {
  artifact = artifact.out
  inputs   = { a = var.x, "b c" = plug.p, d = plug.q }
}
publish "inputs" {
  artifact = artifact.out
}
publish "life" {
  artifact = artifact.out
  lifecycle {
    prevent_destroy = true
  }
}
resource "r" {
  type       = "x"
  config     = { v = publish.life.state, w = publish.lief.version, x = resource.life.state }
  depends_on = [publish.none]
}
# error 8:14 Not an artifact
# error 12:20 Not an artifact
# error 12:27 Invalid name
# error 12:47 Unknown name
# error 14:1 Declared twice
# error 19:3 Unsupported block type
# error 25:22 Unknown attribute
# error 25:46 Unknown name
# error 25:72 Unknown name
# error 26:17 Unknown name
