deployster {
  state = "a"
}
deployster {
  state = "b"
}
# error 5:3 Declared twice
