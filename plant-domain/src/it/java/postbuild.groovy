def checkedOutput = evaluate(new File(basedir, '../../../src/it/postbuild.groovy'))

assert checkedOutput('module-path.txt') == [
    'java.lang.NullPointerException: name',
    '',
    '[com.example.garden, java.base, org.plantstore.domain]']

def (nullName, classPath) = checkedOutput('class-path.txt')
assert nullName == 'java.lang.NullPointerException: name'
def jars = classPath.split(File.pathSeparator).collect { new File(it) }
assert jars.collect { it.name - ~/-\d.*/ } == ['classes', 'plant-domain', 'jspecify']

// The jar contains only the module, compiled for Java 17, and its license.
new java.util.jar.JarFile(jars[1]).withCloseable { jar ->
  def names = jar.entries().findAll { !it.directory }*.name
  assert names.containsAll(['module-info.class', 'META-INF/LICENSE'])
  for (name in names - names.grep(~'META-INF/(MANIFEST.MF|LICENSE|maven/.+)')) {
    assert name ==~ '(module-info|org/plantstore/domain/[^/]+).class'
    def header = new DataInputStream(jar.getInputStream(jar.getEntry(name))).readLong()
    assert Long.toHexString(header) == 'cafebabe0000003d'
  }
}
