artifact "site" {
  type = "acme/git:1"
}
plug "none" {
}
plug "computed" {
  artifact = artifact.site.version
}
plug "writable" {
  artifact  = artifact.site
  read_only = false
}
plug "out" {
  artifact = artifact.site
  path     = "../x"
}
plug "absent" {
  artifact = artifact.seit
}
# error 4:1 A plug of nothing
# error 7:14 Not an artifact
# error 11:15 Read-only
# error 15:14 Invalid path
# error 18:14 Unknown name
