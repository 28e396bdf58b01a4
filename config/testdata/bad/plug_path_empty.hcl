plug "p" {
  path = ""
}
# error 2:10 Invalid path
