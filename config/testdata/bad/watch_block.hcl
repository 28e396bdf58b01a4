type "file" {
  image = "acme/file:1"
  watch {
    poll    = "900ms"
    actions = []
  }
}
resource "a" {
  type = "acme/file:1"
  watch {
    poll    = "soon"
    repair  = "no"
    actions = ["create", ""]
  }
}
# error 4:15 Invalid poll
# error 5:15 Invalid actions
# error 11:15 Invalid poll
# error 12:15 Invalid repair
# error 13:15 Invalid actions
