artifact "a" {
  type    = "acme/git:1"
  source  = "text"
  space   = ""
  version = {}
}
artifact "b" {
  type    = "acme/git:1"
  version = { n = null }
  timeouts {
    get = "soon"
  }
}
artifact "a" {
  type     = "acme/git:1"
  for_each = {}
}
# error 3:13 Wrong type
# error 4:13 Invalid space
# error 5:13 Invalid version
# error 9:13 Invalid version
# error 11:11 Invalid get
# error 14:1 Declared twice
# error 16:3 Unsupported argument
