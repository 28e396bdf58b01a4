artifact "site" {
  type   = "acme/git:1"
  sourec = { uri = "x" }
}
resource "a" {
  type   = "acme/file:1"
  config = { rev = artifact.sites.version.ref, by = artifact.site.versoin }
}
# error 3:3 Unsupported argument
# error 7:20 Unknown name
# error 7:53 Unknown attribute
