assert evaluate(new File(basedir, '../../../src/it/postbuild.groovy'))('class-path.txt') == []

// The compiler refuses exactly the lines with a comment, for the reason in the comment.
def expected = []
new File(basedir, 'src/refused/kotlin/Refused.kt').eachLine { line, number ->
  if (line.contains(' // ')) expected << "$number ${line.split(' // ')[1]}".toString()
}
def refused = new File(basedir, 'build.log').text =~ /Refused\.kt:(\d+):\d+ (.*)/
assert refused.collect { "${it[1]} ${it[2]}".toString() }.unique() == expected
