type "t" {
  image = "a/b"
  timeouts {
    init = "soon"
    state = "5m"
  }
}
# error 4:12 Invalid init
