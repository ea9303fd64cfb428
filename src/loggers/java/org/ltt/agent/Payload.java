// SPDX-License-Identifier: LGPL-2.1-or-later
package org.ltt.agent;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The fields of an event, one behind the other, as libltt records them. Each thread has one. */
public final class Payload {
	private static final int MOST = 60000; // bytes of a text; events are smaller than sub-buffers
	private static final ThreadLocal<Payload> OWN = ThreadLocal.withInitial(Payload::new);

	byte[] bytes = new byte[512];
	int length;

	/** The calling thread's, empty; used at once, by no code of the program in between. */
	public static Payload begin() {
		Payload payload = OWN.get();
		payload.length = 0;
		return payload;
	}

	public Payload text(String text) {
		byte[] utf8 = (text == null ? "" : text.indexOf('\0') < 0 ? text : text.replace("\0", "\\x00"))
				      .getBytes(StandardCharsets.UTF_8);
		if (utf8.length > MOST) {
			int end = MOST;
			while ((utf8[end] & 0xc0) == 0x80)
				end--; // not within a character
			append(utf8, end);
			utf8 = ("... (" + (utf8.length - end) + " bytes more)").getBytes(StandardCharsets.UTF_8);
		}
		append(utf8, utf8.length);
		reserve(1);
		bytes[length++] = 0;
		return this;
	}

	public Payload number(int number) {
		return little(number, 4);
	}

	public Payload number(long number) {
		return little(number, 8);
	}

	private Payload little(long number, int size) {
		reserve(size);
		for (int i = 0; i < size; i++)
			bytes[length++] = (byte)(number >> 8 * i);
		return this;
	}

	private void append(byte[] from, int size) {
		reserve(size);
		System.arraycopy(from, 0, bytes, length, size);
		length += size;
	}

	private void reserve(int size) {
		if (bytes.length - length < size)
			bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + size));
	}
}
