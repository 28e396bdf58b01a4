artifact "site" {
  type = "acme/git:1"
}
locals {
  rev = artifact.site.version.ref
}
plug "p" {
  path = artifact.site.space
}
type "t" {
  image = "acme/file:${local.rev}"
}
artifact "other" {
  type   = "acme/git:1"
  source = { rev = artifact.site.version.ref }
}
# error 8:10 Known too late
# error 11:24 Known too late
# error 15:20 Known too late
